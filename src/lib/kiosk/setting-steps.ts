import { readDensity, readSetting, readVolume, readWhole } from './answers.ts';
import { tabletCommand } from './command.ts';
import type { KioskProfile } from './profile.ts';
import type { Look, Step, StepScene } from './step.ts';

/** A setting of Android and the value that it must have. */
interface Setting {
  readonly namespace: 'system' | 'secure' | 'global';
  readonly key: string;
  readonly value: number;
}

const REMEDY = 'Set it by hand in the settings of the tablet; a manufacturer may have locked it.';

/** The steps of screen, sound and staying awake; only those that the profile names. */
export function settingSteps({ screen, sound, stayAwake }: KioskProfile): Step[] {
  const steps: (Step | false)[] = [
    screen.brightness !== undefined &&
      settingsStep('brightness', 'Brightness', `${screen.brightness} of 255, not automatic`, [
        { namespace: 'system', key: 'screen_brightness_mode', value: 0 },
        { namespace: 'system', key: 'screen_brightness', value: screen.brightness },
      ]),
    screen.offAfterS !== undefined &&
      settingsStep('screen-off', 'Screen goes dark', `after ${screen.offAfterS} s`, [
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
      settingsStep('touch-sounds', 'Sounds of touches', sound.touchSounds ? 'on' : 'off', [
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
    async check(scene) {
      const found: string[] = [];
      let same = true;
      for (const { namespace, key, value } of settings) {
        const text = readSetting(await scene.tablet.read(tabletCommand`settings get ${namespace} ${key}`));
        same &&= readWhole(text) === value;
        found.push(`${key} ${text ?? 'unset'}`);
      }
      return { verdict: same ? 'ok' : 'differs', found: found.join(', ') };
    },
    async apply(scene) {
      for (const { namespace, key, value } of settings) {
        await scene.tablet.read(tabletCommand`settings put ${namespace} ${key} ${value}`);
      }
    },
  };
}

function densityStep(densityDpi: number): Step {
  return {
    id: 'density',
    title: 'Density',
    expected: `${densityDpi} dpi`,
    remedy: REMEDY,
    async check({ tablet }) {
      const found = readDensity(await tablet.read(tabletCommand`wm density`));
      return found === null ? notTold('the density') : compared(found === densityDpi, `${found} dpi`);
    },
    async apply({ tablet }) {
      await tablet.read(tabletCommand`wm density ${densityDpi}`);
    },
  };
}

/** The stream of media in Android's AudioManager. */
const MUSIC_STREAM = 3;

function volumeStep(percent: number): Step {
  const read = async ({ tablet }: StepScene) =>
    readVolume(await tablet.read(tabletCommand`media volume --stream ${MUSIC_STREAM} --get`));
  const wanted = (most: number) => Math.round((most * percent) / 100);
  return {
    id: 'volume',
    title: 'Loudness of media',
    expected: `${percent} %`,
    remedy: REMEDY,
    async check(scene) {
      const volume = await read(scene);
      if (volume === null) return notTold('the loudness');
      return compared(volume.index === wanted(volume.most), `step ${volume.index} of ${volume.most}`);
    },
    async apply(scene) {
      const volume = await read(scene);
      if (volume === null) return;
      await scene.tablet.read(tabletCommand`media volume --stream ${MUSIC_STREAM} --set ${wanted(volume.most)}`);
    },
  };
}

/** Bits of stay_on_while_plugged_in: mains, USB, wireless. A dock has a fourth, which older versions do not know. */
const ALL_CHARGERS = 7;

function stayAwakeStep(stayAwake: boolean): Step {
  return {
    id: 'stay-awake',
    title: 'Screen stays on while charged',
    expected: stayAwake ? 'yes' : 'no',
    remedy: REMEDY,
    async check({ tablet }) {
      const text = readSetting(
        await tablet.read(tabletCommand`settings get ${'global'} ${'stay_on_while_plugged_in'}`),
      );
      const bits = text === null ? 0 : readWhole(text);
      if (bits === null) return notTold('whether it stays awake');
      const same = stayAwake ? (bits & ALL_CHARGERS) === ALL_CHARGERS : bits === 0;
      return compared(same, bits === 0 ? 'no' : same ? 'yes' : `only for some chargers (${bits})`);
    },
    async apply({ tablet }) {
      await tablet.read(tabletCommand`svc power stayon ${String(stayAwake)}`);
    },
  };
}

export function compared(same: boolean, found: string): Look {
  return { verdict: same ? 'ok' : 'differs', found };
}

export function notTold(what: string): Look {
  return { verdict: 'not-checked', found: `the tablet does not tell ${what}` };
}
