"""The program that hosts one provider, or several."""
