"""Helpers of the tests of the kit."""
