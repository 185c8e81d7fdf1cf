import {
  type Alert,
  type ChassisSnapshot,
  type ConditionId,
  type JudgedCondition,
  judgeCondition,
} from '../../chassis/index.ts';
import { num } from './number-text.ts';

/** Reported conditions that prevent operation, one German sentence each. */
export function conditionProblems({ values }: ChassisSnapshot): readonly string[] {
  return judgeCondition(values).flatMap((condition) =>
    condition.verdict === 'wrong' ? [problemText(condition, values)] : [],
  );
}

/** Conditions without a current value, in one German sentence; null when all were reported. */
export function conditionGaps({ values }: ChassisSnapshot): string | null {
  const open = judgeCondition(values).filter(({ verdict }) => verdict === 'not-checked');
  return open.length === 0 ? null : `Nicht geprüft: ${open.map(({ id }) => names[id]).join(', ')}.`;
}

const names: Readonly<Record<ConditionId, string>> = {
  'emergency-stop': 'Not-Halt',
  'control-mode': 'Betriebsart',
  positioning: 'Ortung',
  battery: 'Batterie',
  power: 'Stromversorgung',
  alerts: 'Störmeldungen',
};

function problemText({ id, state }: JudgedCondition, values: ChassisSnapshot['values']): string {
  const { wheels, battery, alerts } = values;
  const charge = battery.status === 'received' ? `${num(battery.value.percent, 0)} %` : '';
  switch (id) {
    case 'emergency-stop':
      return 'Der Not-Halt ist gedrückt.';
    case 'control-mode':
      if (state === 'wheels-released') return 'Die Räder sind entriegelt.';
      return `Betriebsart „${wheels.status === 'received' ? wheels.value.controlMode : ''}“: Der Roboter nimmt keine Fahrbefehle an.`;
    case 'positioning':
      return positioningTexts[state] ?? 'Die Ortung ist gestört.';
    case 'battery':
      return state === 'critical' ? `Die Batterie ist fast leer: ${charge}.` : `Die Batterie ist schwach: ${charge}.`;
    case 'power':
      return `Die Angaben zur Batterie widersprechen sich: „full“ bei ${charge}.`;
    case 'alerts': {
      const active = alerts.status === 'received' ? alerts.value : [];
      const texts = active.slice(0, 3).map(alertText);
      const more = active.length > texts.length ? ` und ${active.length - texts.length} weitere` : '';
      return `Störmeldungen des Roboters: ${texts.join('; ')}${more}.`;
    }
  }
}

const positioningTexts: Readonly<Record<string, string>> = {
  lost: 'Der Roboter hat seine Position verloren.',
  poor: 'Die Ortung ist ungenau.',
  inactive: 'Die Ortung ist nicht aktiv.',
  mapping: 'Der Roboter nimmt gerade eine Karte auf.',
};

/** Why a position is not reliable; null when it is reliable, or nothing current is known. */
export function positionDoubt({ values }: ChassisSnapshot): string | null {
  const state = judgedPositioning(values);
  if (state === 'lost' || state === 'inactive') return 'ungültig, Position verloren';
  return state === 'poor' ? 'unsicher, Ortung ungenau' : null;
}

/** Quality of the localisation, in a German word. */
export function positioningWord({ values }: ChassisSnapshot): string {
  const words: Readonly<Record<string, string>> = {
    reliable: 'sicher',
    lost: 'verloren',
    inactive: 'nicht aktiv',
    poor: 'ungenau',
    mapping: 'Kartierung',
  };
  return words[judgedPositioning(values)] ?? 'nicht geprüft';
}

function judgedPositioning(values: ChassisSnapshot['values']): string {
  return judgeCondition(values).find(({ id }) => id === 'positioning')?.state ?? 'missing';
}

const levels: Readonly<Record<string, string>> = { error: 'Fehler', warning: 'Warnung' };

/** `7005 Fehler: position lost`; the text is the robot's own. */
export function alertText({ code, level, message }: Alert): string {
  const word = Object.hasOwn(levels, level) ? levels[level] : level;
  return message === '' ? `${code} ${word}` : `${code} ${word}: ${message}`;
}
