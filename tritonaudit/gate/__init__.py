"""The gates of a port: what each stage asks of a subject, answered from what the audit's stages came to."""
