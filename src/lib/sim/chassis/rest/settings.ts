import { notSimulated, type RestReply, refuse } from './rest-reply.ts';

export interface Setting {
  readonly title: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** Name in the older `/robot-params`. */
  readonly param: string;
}

/**
 * The settings of this robot, all in effect. Names and schema are the vendor's (HINWEIS), values and ranges a project
 * decision. Metres and seconds, radians for the turn rate.
 */
export const settingTable = {
  'control.max_forward_velocity': {
    title: 'Control: Max Forward Velocity',
    default: 1,
    min: 0.1,
    max: 1,
    param: '/wheel_control/max_forward_velocity',
  },
  'control.max_backward_velocity': {
    title: 'Control: Max Backward Velocity',
    default: -0.35,
    min: -0.35,
    max: -0.05,
    param: '/wheel_control/max_backward_velocity',
  },
  'control.max_forward_acc': {
    title: 'Control: Max Forward Acc',
    default: 1,
    min: 0.2,
    max: 1,
    param: '/wheel_control/max_forward_acc',
  },
  'control.max_angular_velocity': {
    title: 'Control: Max Angular Velocity',
    default: 1.57,
    min: 0.5,
    max: 1.57,
    param: '/wheel_control/max_angular_velocity',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settingTable;
type Values = Readonly<Partial<Record<SettingName, number>>>;

const names = Object.keys(settingTable) as readonly SettingName[];
/** Settings of the vendor for devices that this robot does not have. */
const UNSUPPORTED = /^(rack|pallet|towing)\./;

/** The settings of a user on top of the defaults, kept over a restart of the robot's software. */
export function createSettings() {
  let user: Values = {};
  // Cached, since the drive reads it at every step.
  let effective = defaults();

  /** The values in a body, or its refusal. */
  function read(body: Readonly<Record<string, unknown>>): Values | RestReply {
    const values: Partial<Record<SettingName, number>> = {};
    for (const [name, value] of Object.entries(body)) {
      if (UNSUPPORTED.test(name)) return notSimulated(`the setting ${name}; this robot has no cargo device`);
      if (!isSettingName(name)) return refuse(400, `${name}: unknown setting`);
      const { min, max } = settingTable[name];
      if (typeof value !== 'number' || !(value >= min && value <= max)) {
        return refuse(400, `${name} must be a number from ${min} to ${max}`);
      }
      values[name] = value;
    }
    return values;
  }

  const take = (body: Readonly<Record<string, unknown>>, before: Values): RestReply | undefined => {
    const values = read(body);
    if (isReply(values)) return values;
    user = { ...before, ...values };
    effective = { ...defaults(), ...user };
    return undefined;
  };

  return {
    user: (): Values => user,
    effective: (): Readonly<Record<SettingName, number>> => effective,
    /** Replaces all values; returns the refusal, if any. */
    replace: (body: Readonly<Record<string, unknown>>) => take(body, {}),
    /** Sets these values and keeps the others; returns the refusal, if any. */
    merge: (body: Readonly<Record<string, unknown>>) => take(body, user),
  };
}

export function defaults(): Record<SettingName, number> {
  return Object.fromEntries(names.map((name) => [name, settingTable[name].default])) as Record<SettingName, number>;
}

/** The schema in the vendor's form: a group with its settings, ranges as text. */
export function settingsSchema(): object {
  return {
    ax: names.map((name) => {
      const { title, default: value, min, max } = settingTable[name];
      return { name, title, type: 'float', default: value, range: `[${min}, ${max}]` };
    }),
  };
}

/** Settings under their older names. */
export function paramsOf(values: Readonly<Record<SettingName, number>>): Record<string, number> {
  return Object.fromEntries(names.map((name) => [settingTable[name].param, values[name]]));
}

/** The reverse; an unknown name is kept, so that the refusal names what was sent. */
export function settingsOfParams(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const byParam = new Map<string, string>(names.map((name) => [settingTable[name].param, name]));
  return Object.fromEntries(Object.entries(body).map(([param, value]) => [byParam.get(param) ?? param, value]));
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingTable, name);
}

function isReply(value: object): value is RestReply {
  return 'status' in value;
}
