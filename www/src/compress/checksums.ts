// Says which checksums of a file were checked when it was decompressed.
import type { FramePart } from "../lz4/frame";
import { plural } from "../shell/format";

/** Returns the sentence for a file without errors. Only frames have checksums; legacy frames have none. */
export function checksumText(parts: FramePart[]): string {
  let [headers, blocks, contents] = [0, 0, 0];
  for (const part of parts) {
    if (part.kind !== "frame") continue;
    headers += 1;
    blocks += part.blocks.filter(({ checksumMatches }) => checksumMatches !== null).length;
    if (part.contentChecksum !== null) contents += 1;
  }
  if (blocks + contents === 0) return "Complete. The file has no checksum of its content, so damage to it can go unnoticed.";
  const counts = [
    plural(headers, "header checksum"),
    ...(blocks > 0 ? [plural(blocks, "block checksum")] : []),
    ...(contents > 0 ? [plural(contents, "content checksum")] : []),
  ];
  return `Complete. Checked: ${counts.join(", ")}.`;
}
