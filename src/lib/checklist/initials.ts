/** What a person signs a line with. */
export const INITIALS = /^[\p{L}\p{N}.-]{1,8}$/u;
