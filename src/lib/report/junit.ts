import type { ChecklistResult, StepResult } from '../checklist/index.ts';
import { escapeMarkup } from '../markup/index.ts';
import { clean, cleanLine, seconds } from './text.ts';

/**
 * JUnit XML: one suite per checklist, one case per step. An expectation that did not hold is a failure, a check
 * that could not be done is an error; skipped and not checked steps are skipped cases. The format knows nothing
 * between skipped and passed, so the exit code of gw decides, and `gw.ok` says the same in the file.
 */
export function toJUnit(result: ChecklistResult): string {
  const { steps, counts } = result;
  const errors = steps.filter((step) => step.verdict === 'wrong' && step.error !== null).length;
  const totals = attributes({
    name: result.name,
    tests: steps.length,
    failures: counts.wrong - errors,
    errors,
    skipped: counts.skipped + counts.notChecked,
    time: seconds(result.tookMs),
    timestamp: result.startedAt,
  });
  const properties = [
    property('gw.ok', String(result.ok)),
    property('gw.title', result.title),
    ...(result.subject ? [property('gw.site', result.subject.site), property('gw.serial', result.subject.serial)] : []),
    property('gw.motion-allowed', String(result.motionAllowed)),
    property('gw.interrupted', String(result.interrupted)),
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${totals}>`,
    '    <properties>',
    ...properties.map((line) => `      ${line}`),
    '    </properties>',
    ...steps.map((step) => testCase(result.name, step)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(checklist: string, step: StepResult): string {
  const head = attributes({ classname: checklist, name: `${step.id}: ${step.title}`, time: seconds(step.tookMs) });
  const lines = [`    <testcase ${head}>`, '      <properties>'];
  lines.push(`        ${property('proves', step.proves)}`, `        ${property('verdict', step.verdict)}`);
  lines.push('      </properties>', ...verdictLines(step));
  if (step.shown !== null) lines.push(`      <system-out>${escapeMarkup(clean(step.shown))}</system-out>`);
  lines.push('    </testcase>');
  return lines.join('\n');
}

function verdictLines(step: StepResult): string[] {
  const message = cleanLine(step.why);
  const body = step.remedy === null ? '' : escapeMarkup(clean(`${step.why}\nTo mend: ${step.remedy}`));
  switch (step.verdict) {
    case 'ok':
      return [];
    case 'wrong': {
      const tag = step.error === null ? 'failure' : 'error';
      const type = step.error?.code ?? 'CHECK_FAILED';
      return [`      <${tag} ${attributes({ message, type })}>${body}</${tag}>`];
    }
    case 'skipped':
    case 'not-checked':
      return [`      <skipped ${attributes({ message: `${step.verdict}: ${message}` })}/>`];
  }
}

function property(name: string, value: string): string {
  return `<property ${attributes({ name, value })}/>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeMarkup(cleanLine(String(value)))}"`)
    .join(' ');
}
