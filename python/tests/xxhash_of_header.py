"""The checksum of a frame's header, for headers that tests make: xxHash32 of less than 16 bytes."""

_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
_MASK = 0xFFFFFFFF


def _rotate(word, n):
    return ((word << n) | (word >> (32 - n))) & _MASK


def checksum(header):
    """Returns the second byte of the hash."""
    p1, p2, p3, p4, p5 = _PRIMES
    hash_ = (p5 + len(header)) & _MASK
    at = 0
    for at in range(0, len(header) - 3, 4):
        word = int.from_bytes(header[at : at + 4], "little")
        hash_ = _rotate((hash_ + word * p3) & _MASK, 17) * p4 & _MASK
    for byte in header[len(header) // 4 * 4 :]:
        hash_ = _rotate((hash_ + byte * p5) & _MASK, 11) * p1 & _MASK
    hash_ = (hash_ ^ hash_ >> 15) * p2 & _MASK
    hash_ = (hash_ ^ hash_ >> 13) * p3 & _MASK
    return (hash_ ^ hash_ >> 16) >> 8 & 0xFF
