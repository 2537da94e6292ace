"""The language server: findings, fixes and what is known of a kernel, in an editor, as one types."""
