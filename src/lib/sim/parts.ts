/** What the site of a simulated robot can have beside it. */
export const simParts = ['voice', 'building', 'password', 'enrolment', 'cloud', 'tablet'] as const;
export type SimPart = (typeof simParts)[number];
