import type { Problem } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { loadSite, type Site } from '../../site/index.ts';
import { readKnownIdentity } from '../network/check/identity.ts';
import { conclude } from '../verdict.ts';
import { findingsOf } from './findings.ts';
import { purposes } from './needs.ts';
import { currentPasswordId } from './password-id.ts';
import type { SiteCheck } from './site.result.ts';

/**
 * Checks a site file and the files and folders that it names, without any network access. Problems are the result, not
 * an error. Throws SITE_FILE_NOT_FOUND.
 */
export async function checkSite(path: string, clock: Pick<Clock, 'wall'> = systemClock): Promise<SiteCheck> {
  const now = clock.wall();
  const site = await loadSite(path).catch(asProblems);
  if (Array.isArray(site)) {
    const problems = site.map(({ path: key, file: _file, ...problem }) => ({ key, ...problem }));
    const findings = await findingsOf(null, now);
    return {
      ...{ path, valid: false, verdict: 'wrong', errors: problems.length, problems, findings, completeFor: [] },
      passwordId: null,
    };
  }
  const findings = await findingsOf(site, now);
  const errors = findings.filter(({ verdict }) => verdict === 'wrong').length;
  const verdict = conclude(findings);
  return {
    ...{ path, valid: errors === 0, verdict, errors, problems: [], findings, completeFor: await completeFor(site) },
    passwordId: await currentPasswordId(site),
  };
}

/** Per purpose, what is missing. */
async function completeFor(site: Site): Promise<SiteCheck['completeFor']> {
  const { networkRequestFacts } = await import('../../report/index.ts');
  const identity = await readKnownIdentity(site);
  const { open } = networkRequestFacts(site, identity.kind === 'enrolled' ? identity.endpoint : null);
  const letter = open
    .filter(({ id }) => !ONLY_IF_USED.has(id))
    .map(({ key, what }) => ({
      key,
      what,
      remedy: hasValue(site, key)
        ? `The letter cannot use the value of ${key} (this machine, or a name instead of an address): fill it in by hand.`
        : `Enter ${key}, or fill it in by hand.`,
    }));
  return [
    ...purposes.map(({ id, title, needs }) => ({ id, title, missing: needs.flatMap((need) => [...need(site)]) })),
    { id: 'network-request', title: 'network request', missing: letter },
  ];
}

/** Whether the site file has a value there: the letter leaves out one that names this machine. */
function hasValue(site: Site, key: string): boolean {
  let value: unknown = site;
  for (const name of key.split('.')) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Points of the letter that a site without doors, lifts and other segments does not have. */
const ONLY_IF_USED: ReadonlySet<string> = new Set(['devices', 'heartbeat-segments']);

function asProblems(error: unknown): Problem[] {
  if (!(error instanceof GwError)) throw error;
  if (error.code === 'SITE_FILE_NOT_FOUND') {
    throw new GwError(error.code, error.message, {
      remedy: 'Name it: `gw site check FILE`. Create one: `gw site init FILE`.',
    });
  }
  if (error.code !== 'SITE_FILE_INVALID') throw error;
  const problems = error.details?.problems;
  if (Array.isArray(problems)) return problems as Problem[];
  // The file could not be opened: one problem of the whole file.
  return [
    {
      file: '',
      line: null,
      column: null,
      path: '',
      found: error.message,
      expected: 'a readable file',
      suggestion: null,
    },
  ];
}
