"""Wrong variants of the model, and odd but right ones: who tests the tests."""
