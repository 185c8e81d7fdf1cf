import { tabletCommand } from '../adb/command.ts';
import { parseDensity, parseInteger, parseSetting, parseVolume } from '../adb/command-output.ts';
import type { KioskProfile } from '../profile.ts';
import type { CheckResult, Step, StepContext } from './step.ts';

/** An Android setting and its required value. */
interface Setting {
  readonly namespace: 'system' | 'secure' | 'global';
  readonly key: string;
  readonly value: number;
}

const REMEDY = 'Set it by hand in the settings of the tablet; the manufacturer may have locked it.';

/** Steps for screen, sound and stay-awake that the profile specifies. */
export function settingSteps({ screen, sound, stayAwake }: KioskProfile): Step[] {
  const steps: (Step | false)[] = [
    screen.brightness !== undefined &&
      settingsStep('brightness', 'Brightness', `${screen.brightness} of 255, not automatic`, [
        { namespace: 'system', key: 'screen_brightness_mode', value: 0 },
        { namespace: 'system', key: 'screen_brightness', value: screen.brightness },
      ]),
    screen.offAfterS !== undefined &&
      settingsStep('screen-off', 'Screen timeout', `${screen.offAfterS} s`, [
        { namespace: 'system', key: 'screen_off_timeout', value: screen.offAfterS * 1_000 },
      ]),
    screen.rotationDeg !== undefined &&
      settingsStep('rotation', 'Rotation', `fixed at ${screen.rotationDeg}°`, [
        { namespace: 'system', key: 'accelerometer_rotation', value: 0 },
        { namespace: 'system', key: 'user_rotation', value: screen.rotationDeg / 90 },
      ]),
    screen.densityDpi !== undefined && densityStep(screen.densityDpi),
    sound.mediaPercent !== undefined && volumeStep(sound.mediaPercent),
    sound.touchSounds !== undefined &&
      settingsStep('touch-sounds', 'Touch sounds', sound.touchSounds ? 'on' : 'off', [
        { namespace: 'system', key: 'sound_effects_enabled', value: sound.touchSounds ? 1 : 0 },
      ]),
    stayAwake !== undefined && stayAwakeStep(stayAwake),
  ];
  return steps.filter((step) => step !== false);
}

function settingsStep(id: string, title: string, expected: string, settings: readonly Setting[]): Step {
  return {
    id,
    title,
    expected,
    remedy: REMEDY,
    async check(context) {
      const found: string[] = [];
      let isSame = true;
      for (const { namespace, key, value } of settings) {
        const text = parseSetting(await context.tablet.read(tabletCommand`settings get ${namespace} ${key}`));
        isSame &&= parseInteger(text) === value;
        found.push(`${key} ${text ?? 'unset'}`);
      }
      return { verdict: isSame ? 'ok' : 'differs', found: found.join(', ') };
    },
    async apply(context) {
      for (const { namespace, key, value } of settings) {
        await context.tablet.read(tabletCommand`settings put ${namespace} ${key} ${value}`);
      }
    },
  };
}

function densityStep(densityDpi: number): Step {
  return {
    id: 'density',
    title: 'Screen density',
    expected: `${densityDpi} dpi`,
    remedy: REMEDY,
    async check({ tablet }) {
      const found = parseDensity(await tablet.read(tabletCommand`wm density`));
      return found === null ? notReported('its screen density') : compared(found === densityDpi, `${found} dpi`);
    },
    async apply({ tablet }) {
      await tablet.read(tabletCommand`wm density ${densityDpi}`);
    },
  };
}

/** STREAM_MUSIC of Android's AudioManager. */
const MUSIC_STREAM = 3;

function volumeStep(percent: number): Step {
  const read = async ({ tablet }: StepContext) =>
    parseVolume(await tablet.read(tabletCommand`media volume --stream ${MUSIC_STREAM} --get`));
  const stepFor = (max: number) => Math.round((max * percent) / 100);
  return {
    id: 'volume',
    title: 'Media volume',
    expected: `${percent} %`,
    remedy: REMEDY,
    async check(context) {
      const volume = await read(context);
      if (volume === null) return notReported('its media volume');
      return compared(volume.index === stepFor(volume.max), `step ${volume.index} of ${volume.max}`);
    },
    async apply(context) {
      const volume = await read(context);
      if (volume === null) return;
      await context.tablet.read(tabletCommand`media volume --stream ${MUSIC_STREAM} --set ${stepFor(volume.max)}`);
    },
  };
}

/** Bits of stay_on_while_plugged_in: mains, USB, wireless. The fourth, dock, is missing in older versions. */
const ALL_CHARGERS = 7;

function stayAwakeStep(stayAwake: boolean): Step {
  return {
    id: 'stay-awake',
    title: 'Screen on while charging',
    expected: stayAwake ? 'yes' : 'no',
    remedy: REMEDY,
    async check({ tablet }) {
      const text = parseSetting(
        await tablet.read(tabletCommand`settings get ${'global'} ${'stay_on_while_plugged_in'}`),
      );
      const bits = text === null ? 0 : parseInteger(text);
      if (bits === null) return notReported('its stay-awake setting');
      const isSame = stayAwake ? (bits & ALL_CHARGERS) === ALL_CHARGERS : bits === 0;
      return compared(isSame, bits === 0 ? 'no' : isSame ? 'yes' : `only for some chargers (${bits})`);
    },
    async apply({ tablet }) {
      await tablet.read(tabletCommand`svc power stayon ${String(stayAwake)}`);
    },
  };
}

export function compared(isSame: boolean, found: string): CheckResult {
  return { verdict: isSame ? 'ok' : 'differs', found };
}

export function notReported(value: string): CheckResult {
  return { verdict: 'not-checked', found: `the tablet does not report ${value}` };
}
