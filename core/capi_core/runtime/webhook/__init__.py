"""Admission: defaulting and validation at the API server's door, with certificates of our own."""
