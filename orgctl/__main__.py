"""`python -m orgctl`, where the script `service-orgctl` is not installed, as in the image."""

from orgctl.cli import main

main(prog_name="service-orgctl")
