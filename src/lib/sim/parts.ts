/** Optional simulated parts of the site. */
export const simParts = ['voice', 'building', 'password', 'enrolment', 'cloud', 'tablet'] as const;
export type SimPart = (typeof simParts)[number];
