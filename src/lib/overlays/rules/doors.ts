import { markText } from '../../evidence/index.ts';
import type { RuleInput } from './input.ts';
import { createReader } from './reading.ts';
import { naming, wording } from './wording.ts';

/** Door zones without a door controller. */
export function findDoorFaults({ zones, codeBook, report }: RuleInput): void {
  const door = createReader(codeBook, /\bdoor\b/i);
  for (const feature of zones) {
    const read = door(feature.code);
    if (read === null) continue;
    const { mac } = feature;
    if (typeof mac === 'string' && mac.trim() !== '') continue;
    report('door-without-controller', [feature.index], () => {
      const found = mac === undefined ? 'it has no mac' : `its mac is ${wording(mac)}`;
      return `${naming(feature)} is of regionType ${read.number}, '${read.meaning}' (${markText(read)}), and ${found}.`;
    });
  }
}
