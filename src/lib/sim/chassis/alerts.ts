/** Alerts by number (vendor facts 2, HINWEIS). */
const alertTexts: Readonly<Record<number, readonly [level: 'error' | 'warning', msg: string]>> = {
  1008: ['error', 'no progress'],
  1012: ['error', 'fall risk'],
  2006: ['error', 'wheel error'],
  7005: ['error', 'position lost'],
  8004: ['error', 'flip error'],
  8501: ['warning', 'battery low'],
};

/** The published alerts. They follow the active numbers when they are refreshed. */
export function createAlerts(activeCodes: () => readonly number[], onChange: () => void) {
  let published: readonly number[] = [];

  return {
    refresh(): void {
      const codes = activeCodes();
      if (codes.join() === published.join()) return;
      published = codes;
      onChange();
    },
    list: () =>
      published.map((code) => ({
        code,
        level: alertTexts[code]?.[0] ?? 'error',
        msg: alertTexts[code]?.[1] ?? '',
      })),
  };
}
