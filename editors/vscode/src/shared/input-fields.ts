/** What went into a tool call, as names and texts: people read no JSON. */

export interface Field {
  name: string;
  value: string;
}

export function inputFields(input: unknown): Field[] {
  if (typeof input !== "object" || input === null) return input === undefined || input === null ? [] : [{ name: "Input", value: words(input) }];
  return Object.entries(input).map(([name, value]) => ({ name: label(name), value: words(value) }));
}

/** `first_line` as `First line`. */
function label(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

function words(value: unknown, depth = 0): string {
  const indent = "  ".repeat(depth);
  if (Array.isArray(value)) return value.map((one) => `${indent}• ${words(one, depth + 1).trimStart()}`).join("\n");
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).map(([name, inner]) => `${indent}${label(name)}: ${nested(inner, depth)}`);
    return lines.join("\n");
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : "nothing";
}

function nested(value: unknown, depth: number): string {
  const text = words(value, depth + 1);
  return typeof value === "object" && value !== null ? `\n${text}` : text;
}
