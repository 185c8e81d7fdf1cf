import type { Site } from '../../site/index.ts';
import type { Finding } from '../finding.result.ts';
import { ok, wrong } from '../finding.ts';
import { type CheckVerdict, conclude } from '../verdict.ts';

/** Whether the site file names whom to call on both sides: letters and reports take these from there. */
export function checkContacts({ contacts }: Pick<Site, 'contacts'>): {
  readonly verdict: CheckVerdict;
  readonly findings: readonly Finding[];
} {
  const findings = (['customer', 'operator'] as const).map((side): Finding => {
    const start = { id: side, title: `contacts.${side} is complete`, spec: 'Customer IT request' };
    const person = contacts?.[side];
    const lacking = (['name', 'mail', 'phone'] as const).filter((key) => person?.[key] === undefined);
    if (lacking.length === 0) return ok(start, `${person?.name}, ${person?.mail}, ${person?.phone}`);
    const keys = lacking.map((key) => `contacts.${side}.${key}`).join(', ');
    return wrong(start, `the site file has no ${keys}`, `Enter ${keys}.`);
  });
  return { verdict: conclude(findings), findings };
}
