/** A time as the chassis writes it, read as if its zone were one or the other; the chassis names none. */
export interface ClockReading {
  readonly ifUtcMs: number;
  readonly ifSameZoneMs: number;
}

const shape = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})[ T](\d{1,2}):(\d{2}):(\d{2})(?:\.\d+)?$/;

/** Reads `2026/01/31 12:00:00`. Undefined when the text is another one, names a zone, or no such moment exists. */
export function readChassisTime(text: string): ClockReading | undefined {
  const match = shape.exec(text.trim());
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const ifUtcMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const back = new Date(ifUtcMs);
  const exists = back.getUTCMonth() === month - 1 && back.getUTCDate() === day && back.getUTCHours() === hour;
  if (!exists || back.getUTCMinutes() !== minute || back.getUTCSeconds() !== second) return undefined;
  return { ifUtcMs, ifSameZoneMs: new Date(year, month - 1, day, hour, minute, second).getTime() };
}
