import type { Catalogue, CatalogueEntry } from '../../checklist/index.ts';
import { GwError } from '../../error/index.ts';
import { detailOf, type OwnCheck, ownChecks } from '../own-check/entries.ts';
import { needs } from '../site/needs.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { CatalogueOptions, Check, Expected, Run } from './check.ts';
import { checks } from './checks.ts';
import { knownChecks } from './known-checks.ts';

/** For a check that has timed out, to say so itself. */
const REPORT_MS = 5_000;

/** Every check that a checklist may name, on the functions of the commands of the same names. */
export function createCatalogue(options: CatalogueOptions = {}): Catalogue {
  const { sitePath, ssh, clock, password, who = 'a technician, by a checklist', fromHosts = [] } = options;
  const path = () => {
    if (sitePath === undefined) throw new GwError('USAGE', 'No site file was given for this check.');
    return sitePath;
  };
  let opened: Promise<Toolkit> | undefined;
  const toolkit = async () => {
    const { openToolkit } = await import('../toolkit.ts');
    opened ??= openToolkit(path(), ssh, clock);
    return opened;
  };
  const tools: Omit<Run, keyof CheckContext> = {
    ...{ path, toolkit, who, fromHosts, givenPassword: password },
    ...{ searchPath: options.searchPath, sshConnection: options.sshConnection },
    ...{ gwVersion: options.gwVersion, switchFault: options.switchFault },
    async onGateway() {
      if (ssh === undefined) return toolkit();
      throw new GwError('NEEDS_GATEWAY', `This check must run on the gateway itself, not through ${ssh.where}.`);
    },
    password() {
      if (password !== undefined) return password;
      throw new GwError('USAGE', 'This check signs in, but no device password was given.', {
        remedy: 'Name the password file with --password-file FILE.',
      });
    },
  };

  /** One entry with joined types: its functions receive the output of its schema. */
  function entry<O>(check: Check<O>): CatalogueEntry {
    const {
      summary,
      moves = false,
      with: schema,
      software,
      simulated,
      signsIn = false,
      needs: needed = [],
      run,
    } = check;
    const given = signsIn ? (['password'] as const).filter(() => password !== undefined) : check.given?.(options);
    const needsOf = (of: O, expected: Expected) => [
      ...(typeof needed === 'function' ? needed(of, expected) : needed),
      ...(signsIn ? [needs.passwordFile] : []),
    ];
    return {
      summary,
      moves,
      with: schema,
      ...(software && { software }),
      ...(simulated && { simulated }),
      ...(given && { given }),
      async missing(of, expected) {
        const all = needsOf(of as O, expected);
        if (sitePath === undefined || all.length === 0) return [];
        const opening = await toolkit().catch(() => null);
        return opening === null ? [] : all.flatMap((need) => need(opening.site));
      },
      run: (of, context) => run(of as O, { ...context, ...tools }),
    };
  }

  /** A check of own lists: changes nothing, and says from where it looked. */
  function own<O>({ summary, with: schema, timeoutS, run }: OwnCheck<O>): CatalogueEntry {
    return {
      ...entry({ summary, with: schema, run }),
      says: detailOf,
      withinMs: (of) => timeoutS(of as O) * 1_000 + REPORT_MS,
      repeatable: true,
    };
  }

  const entries = <T extends object>(of: T, make: (one: never) => CatalogueEntry) =>
    Object.fromEntries(Object.entries(of).map(([name, one]) => [name, make(one as never)]));
  return { ...entries(ownChecks(options.programs), own), ...entries({ ...checks, ...knownChecks }, entry) };
}
