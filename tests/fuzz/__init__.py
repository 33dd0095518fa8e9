"""Programs and inputs that nobody wrote: generated, mutated, and judged."""
