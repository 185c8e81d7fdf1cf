import { asGwError, GwError } from '../../error/index.ts';
import { faultNames, faultTable, isFaultName } from '../faults.ts';
import type { SimFault } from '../sim.result.ts';
import type { ControlView } from './handle.ts';
import { controlSim, DEFAULT_DIR, defaultPointerFile, unknownFault } from './request.ts';

export interface SwitchFaultOptions {
  readonly name?: string | undefined;
  readonly state?: string | undefined;
  readonly list?: boolean | undefined;
  readonly dir?: string | undefined;
  readonly pointerFile?: string;
}

/** Switches a fault of a running simulator or lists them. Throws USAGE, SIM_NOT_RUNNING, PORT_IN_USE. */
export async function switchFault(options: SwitchFaultOptions): Promise<SimFault> {
  const set = parseChange(options);
  const { dir, pointerFile = defaultPointerFile() } = options;
  try {
    const view = await controlSim(dir ?? DEFAULT_DIR, {
      ...(set && { set }),
      ...(dir === undefined && { pointerFile }),
    });
    const faults = view.faults.map(({ name, on, effect }) => ({ name, on, effect }));
    const note = set?.on === true ? withoutEffect(set.name, view) : undefined;
    return { dir: view.dir, changed: set ?? null, ...(note !== undefined && { note }), faults };
  } catch (error) {
    // The list is useful without a simulator too; the states are then unknown.
    const canListAnyway = set === undefined && dir === undefined && asGwError(error).code === 'SIM_NOT_RUNNING';
    if (!canListAnyway) throw error;
    return {
      dir: null,
      changed: null,
      faults: faultNames.map((name) => ({ name, on: null, effect: faultTable[name].effect })),
    };
  }
}

/** Why a fault has no effect: the part that it affects is missing. */
function withoutEffect(name: string, { robots, parts }: Pick<ControlView, 'robots' | 'parts'>): string | undefined {
  const kind = isFaultName(name) ? faultTable[name].kind : undefined;
  if (kind === 'fleet' && robots === 0) {
    return 'No effect: this simulator has no neighbours; start it with `gw sim --robots N`.';
  }
  if ((kind === 'enrolment' || kind === 'cloud' || kind === 'tablet') && !parts.includes(kind)) {
    return `No effect: this simulator has no ${kind}; start it with \`gw sim --with ${kind}\`.`;
  }
  return undefined;
}

function parseChange({ name, state, list }: SwitchFaultOptions): { name: string; on: boolean } | undefined {
  if (name === undefined) return undefined;
  if (list) throw new GwError('USAGE', 'A fault and --list exclude each other.');
  if (!isFaultName(name)) throw unknownFault(name);
  if (state !== 'on' && state !== 'off') {
    throw new GwError('USAGE', `No state given for the fault '${name}'.`, {
      remedy: `Add on or off, for example: gw sim fault ${name} on`,
    });
  }
  return { name, on: state === 'on' };
}
