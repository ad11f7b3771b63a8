"""placeholder until merged"""


class Masks: ...
