"""What stands behind the pipeline: promotion, and serving itself."""
