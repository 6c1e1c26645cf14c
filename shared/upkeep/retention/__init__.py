"""The removal of data that an organization no longer wants to keep."""
