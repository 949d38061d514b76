"""The parts of `tools/fuzz_ids.py`: hard texts, random components, random tokenizers, and the comparison."""
