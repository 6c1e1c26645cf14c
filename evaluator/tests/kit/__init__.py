"""What the tests of the kit share."""
