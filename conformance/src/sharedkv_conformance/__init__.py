"""The conformance suite of SharedKV: contract, model, laws, checks, mutants, and the runner that puts them together."""
