/** Semantic Versioning 2.0.0; at most 64 characters. @source semver.org */
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;
const MAX_VERSION_CHARACTERS = 64;

export function isVersion(text: string): boolean {
  return text.length <= MAX_VERSION_CHARACTERS && VERSION.test(text);
}

/** Below 0: `a` is older. Build metadata does not count. Both must be versions. */
export function compareVersions(a: string, b: string): number {
  const [coreA, preA] = split(a);
  const [coreB, preB] = split(b);
  for (let at = 0; at < 3; at += 1) {
    const order = compareNumbers(coreA[at] ?? '0', coreB[at] ?? '0');
    if (order !== 0) return order;
  }
  // A version without a pre-release is newer than the same with one.
  if (preA.length === 0 || preB.length === 0) return preB.length - preA.length;
  for (let at = 0; at < Math.max(preA.length, preB.length); at += 1) {
    const [one, other] = [preA[at], preB[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    const order = compareIdentifiers(one, other);
    if (order !== 0) return order;
  }
  return 0;
}

function split(version: string): readonly [readonly string[], readonly string[]] {
  const [, major = '0', minor = '0', patch = '0', pre = ''] = VERSION.exec(version) ?? [];
  return [[major, minor, patch], pre === '' ? [] : pre.split('.')];
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return compareNumbers(a, b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Digits without leading zeros, of any length. */
function compareNumbers(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}
