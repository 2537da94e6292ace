"""Does what the compile stage says without a GPU equal what a real one says?"""
