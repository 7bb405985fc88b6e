/** The architectures that kernels can be made for. Source: PTX ISA 9.0, 11.1.2 and chapter 13. */

/** The first version of PTX with each architecture that the builder names. */
export const minVersions: Readonly<Record<number, number>> = {
  50: 4,
  52: 4.1,
  53: 4.2,
  60: 5,
  61: 5,
  62: 5,
  70: 6,
  72: 6.1,
  75: 6.3,
  80: 7,
  86: 7.1,
  87: 7.4,
  89: 7.8,
  90: 7.8,
};

/** An architecture that a kernel can be made for. */
export type Target =
  | 'sm_50'
  | 'sm_52'
  | 'sm_53'
  | 'sm_60'
  | 'sm_61'
  | 'sm_62'
  | 'sm_70'
  | 'sm_72'
  | 'sm_75'
  | 'sm_80'
  | 'sm_86'
  | 'sm_87'
  | 'sm_89'
  | 'sm_90'
  | 'sm_90a';
