// First word of `places` that belongs to a page; before it are the total and the sums of up to 1024 tiles.
const PLACES: u32 = 1025;
