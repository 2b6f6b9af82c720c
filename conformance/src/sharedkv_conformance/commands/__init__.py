"""The commands of `kvconform`: each module is imported when its command is given."""
