"""The quality pass: cells cut into tasks, handed to an engine, counted by workers, added up."""
