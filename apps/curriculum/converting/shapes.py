"""The other shapes that can be imported, by the name of ``import_curriculum --from``."""

from apps.curriculum.converting import metacademy
from apps.curriculum.converting.conversion import Convert

CONVERTERS: dict[str, Convert] = {"metacademy": metacademy.convert}
