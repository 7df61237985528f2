"""Text that is safe to print."""


def printable(text: str) -> str:
    """The text with whatever might command a terminal, or hide from its reader, as an escape."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )
