/** Turns a checklist's result into documents for others: JUnit XML for a CI, Markdown for people, JSON for programs. */
export { toJson } from './json.ts';
export { toJUnit } from './junit.ts';
export { toMarkdown } from './markdown.ts';
