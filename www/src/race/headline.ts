// The headline of a race: how many times as fast as other LZ4 packages Pagepress is on this machine.
import type { EngineId } from "../engines/calls";
import { engines } from "../engines/list";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import type { Measured, RaceResult } from "./race";

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

function fastest({ engines: outcomes }: RaceResult, way: Way, isPeer: boolean): Best | null {
  const found = engines.flatMap(({ id, name, family, isLz4Peer = false }) => {
    const outcome = outcomes[id];
    if (!outcome || "failure" in outcome || (isPeer ? !isLz4Peer : family === "peer")) return [];
    const median = (outcome as Measured)[way]?.median;
    return median === undefined ? [] : [{ id, name, median }];
  });
  return found.sort((a, b) => a.median - b.median)[0] ?? null;
}

/** Returns the factors of both directions, as far as engines on both sides were measured. */
export function factorsOf(result: RaceResult): Factor[] {
  return (["compress", "decompress"] as const).flatMap((way) => {
    const [ours, theirs] = [fastest(result, way, false), fastest(result, way, true)];
    return ours && theirs ? [{ way, ours, theirs, factor: theirs.median / ours.median }] : [];
  });
}

/** Returns the text after the factor. */
export function factorText({ way, ours, theirs }: Factor): string {
  return `the speed of ${theirs.name} to ${way} (${ours.name})`;
}

/** Shows the factors of a race. */
export function showHeadline(result: RaceResult): void {
  const lines = factorsOf(result).map((one, i) =>
    make("p", i === 0 ? "factor" : "factor second", make("strong", "", `${format.three(one.factor)} ×`), ` ${factorText(one)}`),
  );
  if (lines.length > 0) element("headline").replaceChildren(...lines);
}
