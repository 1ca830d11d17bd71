"""Containers as machines: the seam to the engine, its real side and its fake."""
