"""What `hubbub serve` is made of beside its two applications: a parent that watches two child processes.

`supervisor` is the parent and loads the standard library alone; `process` is what each child does; `contract` says what
both listeners take and answer, and `openapi` writes it down.
"""
