"""Rules of the category memory."""
