/** A number with a German decimal comma; zero has no sign. */
export function num(value: number, digits: number): string {
  return value
    .toFixed(digits)
    .replace(/^-(?=[0.]*$)/, '')
    .replace('.', ',');
}

/** `0,4 s`, `45 s`, `12 min`, `5 h`; number and unit stay on one line. */
export function spanText(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 10) return `${num(s, 1)}\u00a0s`;
  if (s < 120) return `${Math.floor(s)}\u00a0s`;
  if (s < 120 * 60) return `${Math.floor(s / 60)}\u00a0min`;
  return `${Math.floor(s / 3600)}\u00a0h`;
}

/** `22.11.2026, 08:19:36 UTC` for an ISO time in UTC; other text is returned unchanged. */
export function timeText(iso: string): string {
  const found = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2}:\d{2})/.exec(iso);
  return found === null ? iso : `${found[3]}.${found[2]}.${found[1]}, ${found[4]} UTC`;
}
