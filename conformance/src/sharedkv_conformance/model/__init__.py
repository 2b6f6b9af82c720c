"""The executable specification: slow, plain, and right by inspection."""
