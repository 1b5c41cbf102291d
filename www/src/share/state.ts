// The state of the first screen in the link: options and sample data.
import { element } from "../shell/dom";
import { fragmentParameters } from "../shell/tabs";

/** The fields by their name in the link. */
const FIELDS = {
  block: "block-size",
  level: "level",
  engine: "backend",
  rounds: "runs",
  sample: "sample",
  size: "sample-size",
} as const;

type Field = HTMLInputElement | HTMLSelectElement;

/** Returns true if a field can have a value: an option of a selection, or a number in the range of a slider. */
function accepts(field: Field, value: string): boolean {
  if (field instanceof HTMLSelectElement) return [...field.options].some((option) => option.value === value);
  const number = Number(value);
  return /^\d+$/.test(value) && number >= Number(field.min) && number <= Number(field.max);
}

/** Sets the fields that the link names. Unknown names and values are ignored. */
export function applyState(): void {
  const parameters = fragmentParameters();
  for (const [name, id] of Object.entries(FIELDS)) {
    const [field, value] = [element<Field & HTMLElement>(id), parameters.get(name)];
    if (value === null || !accepts(field, value)) continue;
    field.value = value;
    field.dispatchEvent(new Event(field instanceof HTMLSelectElement ? "change" : "input"));
  }
  if (parameters.get("index") === "1") element<HTMLInputElement>("index").checked = true;
}

/** Returns the link to the page with the chosen options and sample data. */
export function stateLink(): string {
  const parameters = new URLSearchParams();
  for (const [name, id] of Object.entries(FIELDS)) parameters.set(name, element<Field & HTMLElement>(id).value);
  if (element<HTMLInputElement>("index").checked) parameters.set("index", "1");
  return `${location.origin}${location.pathname}#compress?${parameters.toString()}`;
}
