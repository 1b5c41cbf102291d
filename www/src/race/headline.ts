// The headline of a race: how many times as fast as other LZ4 packages Pagepress is on this machine.
import type { EngineId } from "../engines/calls";
import { engines } from "../engines/list";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import type { Outcomes } from "./race";

type Way = "compress" | "decompress";

interface Best {
  id: EngineId;
  name: string;
  median: number;
}

/** The fastest engine of Pagepress beside the fastest other LZ4 package in one direction. */
export interface Factor {
  way: Way;
  ours: Best;
  theirs: Best;
  /** Above 1 if Pagepress is faster. */
  factor: number;
}

function fastest(outcomes: Outcomes, way: Way, isPeer: boolean): Best | null {
  const found = engines.flatMap(({ id, name, family, isLz4Peer = false }) => {
    const outcome = outcomes[id];
    if (!outcome || "failure" in outcome || (isPeer ? !isLz4Peer : family === "peer")) return [];
    const median = outcome[way]?.median;
    return median === undefined ? [] : [{ id, name, median }];
  });
  return found.sort((a, b) => a.median - b.median)[0] ?? null;
}

/** Returns the factors of both directions, as far as engines on both sides were measured. */
export function factorsOf(outcomes: Outcomes): Factor[] {
  return (["compress", "decompress"] as const).flatMap((way) => {
    const [ours, theirs] = [fastest(outcomes, way, false), fastest(outcomes, way, true)];
    return ours && theirs ? [{ way, ours, theirs, factor: theirs.median / ours.median }] : [];
  });
}

/** Returns the text after the factor. */
export function factorText({ way, ours, theirs }: Factor): string {
  return `the speed of ${theirs.name} to ${way} (${ours.name})`;
}

/** Shows the factors of a race, as far as it got. */
export function showHeadline(outcomes: Outcomes): void {
  const lines = factorsOf(outcomes).map((one, i) =>
    make("p", i === 0 ? "factor" : "factor second", make("strong", "", `${format.three(one.factor)} ×`), ` ${factorText(one)}`),
  );
  if (lines.length > 0) element("headline").replaceChildren(...lines);
}
