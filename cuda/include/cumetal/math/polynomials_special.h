// Minimax polynomials, written by scripts/math/polynomials.py.
#ifndef __CUMETAL_MATH_POLYNOMIALS_SPECIAL_H__
#define __CUMETAL_MATH_POLYNOMIALS_SPECIAL_H__

// erf(x) = (2/sqrt(pi) + p(z)) x, |x| <= 1.
__cumetal_both double __cumetal_poly_erf(double x) {
  double p = -0x1.29e14842f8767p-38;
  p = __builtin_fma(p, x, 0x1.7f171f011fd79p-34);
  p = __builtin_fma(p, x, -0x1.4e635b40a397fp-30);
  p = __builtin_fma(p, x, 0x1.fc43f063b4a42p-27);
  p = __builtin_fma(p, x, -0x1.5f6d9cc1c31e4p-23);
  p = __builtin_fma(p, x, 0x1.b9e6518e61290p-20);
  p = __builtin_fma(p, x, -0x1.f4d2562a1b010p-17);
  p = __builtin_fma(p, x, 0x1.f9a326c2d9822p-14);
  p = __builtin_fma(p, x, -0x1.c02db3fef01d6p-11);
  p = __builtin_fma(p, x, 0x1.565bcd0e65195p-8);
  p = __builtin_fma(p, x, -0x1.b82ce312889c2p-6);
  p = __builtin_fma(p, x, 0x1.ce2f21a042bdep-4);
  p = __builtin_fma(p, x, -0x1.812746b0379e7p-2);
  p = __builtin_fma(p, x, -0x1.3c146e1adecf4p-69);
  return p;
}

__cumetal_both float __cumetal_poly_erf(float x) {
  float p = 0x1.4ae4c60000000p-14f;
  p = __builtin_fmaf(p, x, -0x1.a485f80000000p-11f);
  p = __builtin_fmaf(p, x, 0x1.5419fa0000000p-8f);
  p = __builtin_fmaf(p, x, -0x1.b7fbb60000000p-6f);
  p = __builtin_fmaf(p, x, 0x1.ce2d200000000p-4f);
  p = __builtin_fmaf(p, x, -0x1.81273e0000000p-2f);
  p = __builtin_fmaf(p, x, -0x1.4497840000000p-30f);
  return p;
}

// (1 + 2x) exp(x^2) erfc(x) = p(t), t = (x-4)/(x+4), x >= 0.
__cumetal_both double __cumetal_poly_erfcx(double x) {
  double p = -0x1.1a0c6a9815c70p-32;
  p = __builtin_fma(p, x, 0x1.0088ebe8f2365p-30);
  p = __builtin_fma(p, x, 0x1.abdd23ab1a882p-29);
  p = __builtin_fma(p, x, -0x1.a8a609632432ap-27);
  p = __builtin_fma(p, x, -0x1.5eb0c7b0b2bf9p-26);
  p = __builtin_fma(p, x, 0x1.c8d98a76dd5b4p-24);
  p = __builtin_fma(p, x, 0x1.4bc6e8326b8c8p-24);
  p = __builtin_fma(p, x, -0x1.b8d82c14d2cb7p-21);
  p = __builtin_fma(p, x, 0x1.39bb2d96e919ap-22);
  p = __builtin_fma(p, x, 0x1.7ef76000ae489p-18);
  p = __builtin_fma(p, x, -0x1.788743c17cafbp-17);
  p = __builtin_fma(p, x, -0x1.99539e68e39b4p-16);
  p = __builtin_fma(p, x, 0x1.3be053a1182afp-13);
  p = __builtin_fma(p, x, -0x1.a1df5c8810291p-13);
  p = __builtin_fma(p, x, -0x1.8d4a9b8843bb4p-11);
  p = __builtin_fma(p, x, 0x1.49c672ddb7320p-8);
  p = __builtin_fma(p, x, -0x1.09623882da5a7p-6);
  p = __builtin_fma(p, x, 0x1.3079edf52ac1ep-5);
  p = __builtin_fma(p, x, -0x1.0fb06dfe570c4p-4);
  p = __builtin_fma(p, x, 0x1.7fee004e1e292p-4);
  p = __builtin_fma(p, x, -0x1.9ddb23c3e85f9p-4);
  p = __builtin_fma(p, x, 0x1.16ecefcfa4d8ap-4);
  p = __builtin_fma(p, x, 0x1.f7f5df66fd610p-7);
  p = __builtin_fma(p, x, -0x1.1df1ad154a287p-3);
  p = __builtin_fma(p, x, 0x1.3ba5916e9fd7fp+0);
  return p;
}

__cumetal_both float __cumetal_poly_erfcx(float x) {
  float p = 0x1.d8381e0000000p-14f;
  p = __builtin_fmaf(p, x, -0x1.03f8c00000000p-12f);
  p = __builtin_fmaf(p, x, -0x1.714eea0000000p-11f);
  p = __builtin_fmaf(p, x, 0x1.4cfb780000000p-8f);
  p = __builtin_fmaf(p, x, -0x1.0a00cc0000000p-6f);
  p = __builtin_fmaf(p, x, 0x1.3043f60000000p-5f);
  p = __builtin_fmaf(p, x, -0x1.0fa1de0000000p-4f);
  p = __builtin_fmaf(p, x, 0x1.7ff5260000000p-4f);
  p = __builtin_fmaf(p, x, -0x1.9dddb40000000p-4f);
  p = __builtin_fmaf(p, x, 0x1.16ec1e0000000p-4f);
  p = __builtin_fmaf(p, x, 0x1.f7f73c0000000p-7f);
  p = __builtin_fmaf(p, x, -0x1.1df1aa0000000p-3f);
  p = __builtin_fmaf(p, x, 0x1.3ba5920000000p+0f);
  return p;
}

// lgamma(2+t) = t (1+t) p(t), |t| <= 1/2.
__cumetal_both double __cumetal_poly_lgamma(double x) {
  double p = -0x1.02178f0c01fd9p-24;
  p = __builtin_fma(p, x, 0x1.064e0455e8dc7p-23);
  p = __builtin_fma(p, x, -0x1.8538188b1070ep-23);
  p = __builtin_fma(p, x, 0x1.9ed8b10b77eb9p-22);
  p = __builtin_fma(p, x, -0x1.cbd73bf742620p-21);
  p = __builtin_fma(p, x, 0x1.e6c4c25835c29p-20);
  p = __builtin_fma(p, x, -0x1.0223ca6c3b72ap-18);
  p = __builtin_fma(p, x, 0x1.13dbea4eeb578p-17);
  p = __builtin_fma(p, x, -0x1.2850bd544625ep-16);
  p = __builtin_fma(p, x, 0x1.402f4aea7cb1ap-15);
  p = __builtin_fma(p, x, -0x1.5c86b433f4db0p-14);
  p = __builtin_fma(p, x, 0x1.7ed732afdd963p-13);
  p = __builtin_fma(p, x, -0x1.a96a401781b1bp-12);
  p = __builtin_fma(p, x, 0x1.dfebcf90f036ap-11);
  p = __builtin_fma(p, x, -0x1.145121f9975f9p-9);
  p = __builtin_fma(p, x, 0x1.47974853a8935p-8);
  p = __builtin_fma(p, x, -0x1.95ce223a9cc0dp-7);
  p = __builtin_fma(p, x, 0x1.0e0c9df293537p-5);
  p = __builtin_fma(p, x, -0x1.9ae6509ea109fp-4);
  p = __builtin_fma(p, x, 0x1.b0ee6072093cep-2);
  return p;
}

__cumetal_both float __cumetal_poly_lgamma(float x) {
  float p = 0x1.bba6200000000p-13f;
  p = __builtin_fmaf(p, x, -0x1.deb3960000000p-12f);
  p = __builtin_fmaf(p, x, 0x1.dc15aa0000000p-11f);
  p = __builtin_fmaf(p, x, -0x1.1308960000000p-9f);
  p = __builtin_fmaf(p, x, 0x1.47a3fa0000000p-8f);
  p = __builtin_fmaf(p, x, -0x1.95d3ea0000000p-7f);
  p = __builtin_fmaf(p, x, 0x1.0e0c8e0000000p-5f);
  p = __builtin_fmaf(p, x, -0x1.9ae64e0000000p-4f);
  p = __builtin_fmaf(p, x, 0x1.b0ee600000000p-2f);
  return p;
}

// lgamma(x) = (x-1/2) log(x) - x + log(2 pi)/2 + p(z)/x, z = x^-2, x >= 10.
__cumetal_both double __cumetal_poly_stirling(double x) {
  double p = -0x1.c7e6b9cafdf93p-10;
  p = __builtin_fma(p, x, 0x1.b849b6c3d078bp-11);
  p = __builtin_fma(p, x, -0x1.3812247dcc43bp-11);
  p = __builtin_fma(p, x, 0x1.a01a00ceea924p-11);
  p = __builtin_fma(p, x, -0x1.6c16c16c0b41fp-9);
  p = __builtin_fma(p, x, 0x1.5555555555555p-4);
  return p;
}

__cumetal_both float __cumetal_poly_stirling(float x) {
  float p = 0x1.9b74040000000p-11f;
  p = __builtin_fmaf(p, x, -0x1.6c15a20000000p-9f);
  p = __builtin_fmaf(p, x, 0x1.5555560000000p-4f);
  return p;
}

// J0(x) = p(x^2), |x| <= 8.
__cumetal_both double __cumetal_poly_j0(double x) {
  double p = -0x1.e0d2dec7066e6p-153;
  p = __builtin_fma(p, x, 0x1.da903ced37675p-142);
  p = __builtin_fma(p, x, -0x1.3de24393f2b8fp-131);
  p = __builtin_fma(p, x, 0x1.69a3d5d5af7cdp-121);
  p = __builtin_fma(p, x, -0x1.69f083cf5051dp-111);
  p = __builtin_fma(p, x, 0x1.3e225b1e040d9p-101);
  p = __builtin_fma(p, x, -0x1.e7254cba724b5p-92);
  p = __builtin_fma(p, x, 0x1.4197a77614e8bp-82);
  p = __builtin_fma(p, x, -0x1.69ca9cebe78efp-73);
  p = __builtin_fma(p, x, 0x1.5601885e04052p-64);
  p = __builtin_fma(p, x, -0x1.0b313289ba7d0p-55);
  p = __builtin_fma(p, x, 0x1.522a43f65452fp-47);
  p = __builtin_fma(p, x, -0x1.522a43f654846p-39);
  p = __builtin_fma(p, x, 0x1.02e85c0898b70p-31);
  p = __builtin_fma(p, x, -0x1.23456789abcdfp-24);
  p = __builtin_fma(p, x, 0x1.c71c71c71c71cp-18);
  p = __builtin_fma(p, x, -0x1.c71c71c71c71cp-12);
  p = __builtin_fma(p, x, 0x1.0000000000000p-6);
  p = __builtin_fma(p, x, -0x1.0000000000000p-2);
  p = __builtin_fma(p, x, 0x1.0000000000000p+0);
  return p;
}

// J1(x) = x p(x^2), |x| <= 8.
__cumetal_both double __cumetal_poly_j1(double x) {
  double p = -0x1.88302d3940befp-158;
  p = __builtin_fma(p, x, 0x1.91ec3b4bc63b7p-147);
  p = __builtin_fma(p, x, -0x1.1ae28b90b666bp-136);
  p = __builtin_fma(p, x, 0x1.546c1b21e0730p-126);
  p = __builtin_fma(p, x, -0x1.69f22d9b5a909p-116);
  p = __builtin_fma(p, x, 0x1.5357fcf72bc21p-106);
  p = __builtin_fma(p, x, -0x1.165e774ec0fb4p-96);
  p = __builtin_fma(p, x, 0x1.8bce582dc61c8p-87);
  p = __builtin_fma(p, x, -0x1.e2637be992d00p-78);
  p = __builtin_fma(p, x, 0x1.f17697ced2addp-69);
  p = __builtin_fma(p, x, -0x1.ab81ea75fa1dep-60);
  p = __builtin_fma(p, x, 0x1.2c9758daf5b8fp-51);
  p = __builtin_fma(p, x, -0x1.522a43f65485cp-43);
  p = __builtin_fma(p, x, 0x1.27e4fb7789f5cp-35);
  p = __builtin_fma(p, x, -0x1.845c8a0ce5129p-28);
  p = __builtin_fma(p, x, 0x1.6c16c16c16c17p-21);
  p = __builtin_fma(p, x, -0x1.c71c71c71c71cp-15);
  p = __builtin_fma(p, x, 0x1.5555555555555p-9);
  p = __builtin_fma(p, x, -0x1.0000000000000p-4);
  p = __builtin_fma(p, x, 0x1.0000000000000p-1);
  return p;
}

// Y0(x) = 2/pi log(x/2) J0(x) + p(x^2), x <= 8.
__cumetal_both double __cumetal_poly_y0(double x) {
  double p = 0x1.c385dc58f9551p-152;
  p = __builtin_fma(p, x, -0x1.b7d8bc6707e38p-141);
  p = __builtin_fma(p, x, 0x1.21803245ae90cp-130);
  p = __builtin_fma(p, x, -0x1.42b38ba0e110bp-120);
  p = __builtin_fma(p, x, 0x1.3bc96b1442ef6p-110);
  p = __builtin_fma(p, x, -0x1.0ed176a19f565p-100);
  p = __builtin_fma(p, x, 0x1.939df568abaa7p-91);
  p = __builtin_fma(p, x, -0x1.02937ba1eb06ap-81);
  p = __builtin_fma(p, x, 0x1.194d22a07b616p-72);
  p = __builtin_fma(p, x, -0x1.00055b83e2c8cp-63);
  p = __builtin_fma(p, x, 0x1.7f05d0cb245ebp-55);
  p = __builtin_fma(p, x, -0x1.ccd7c448c3c2dp-47);
  p = __builtin_fma(p, x, 0x1.b1eeb95159d45p-39);
  p = __builtin_fma(p, x, -0x1.34aedc49cbc63p-31);
  p = __builtin_fma(p, x, 0x1.3c5d153ae12aap-24);
  p = __builtin_fma(p, x, -0x1.b45f204ebc2c3p-18);
  p = __builtin_fma(p, x, 0x1.6bf03b3a279c2p-12);
  p = __builtin_fma(p, x, -0x1.2cc7eb028db7ap-7);
  p = __builtin_fma(p, x, 0x1.139ccf287ee71p-4);
  p = __builtin_fma(p, x, 0x1.78493e90ba294p-2);
  return p;
}

// Y1(x) = 2/pi (log(x/2) J1(x) - 1/x) + x p(x^2), x <= 8.
__cumetal_both double __cumetal_poly_y1(double x) {
  double p = 0x1.7397d4c5b32fbp-157;
  p = __builtin_fma(p, x, -0x1.77f874d1cdcf9p-146);
  p = __builtin_fma(p, x, 0x1.042520ba13d95p-135);
  p = __builtin_fma(p, x, -0x1.32f58dd6ca3bap-125);
  p = __builtin_fma(p, x, 0x1.3f64b568bb402p-115);
  p = __builtin_fma(p, x, -0x1.24794dfff949ap-105);
  p = __builtin_fma(p, x, 0x1.d39b14a9946a5p-96);
  p = __builtin_fma(p, x, -0x1.4317df0c7c6dfp-86);
  p = __builtin_fma(p, x, 0x1.7d775ed3fa22dp-77);
  p = __builtin_fma(p, x, -0x1.7b9778ed8bffcp-68);
  p = __builtin_fma(p, x, 0x1.3938dfea4f3cbp-59);
  p = __builtin_fma(p, x, -0x1.a444f204666b7p-51);
  p = __builtin_fma(p, x, 0x1.bf633ecd0efd6p-43);
  p = __builtin_fma(p, x, -0x1.6e3c5cab7976ep-35);
  p = __builtin_fma(p, x, 0x1.ba6bde0944468p-28);
  p = __builtin_fma(p, x, -0x1.7446a0977e65fp-21);
  p = __builtin_fma(p, x, 0x1.9027adc471e43p-15);
  p = __builtin_fma(p, x, -0x1.d97973c2a6da3p-10);
  p = __builtin_fma(p, x, 0x1.b6965296cd2b3p-6);
  p = __builtin_fma(p, x, 0x1.92b1bda0ed08cp-6);
  return p;
}

// Hankel's P0 in z = (8/x)^2, x >= 8.
__cumetal_both double __cumetal_poly_p0(double x) {
  double p = 0x1.517fc1d62de35p-34;
  p = __builtin_fma(p, x, -0x1.5c755051b644fp-31);
  p = __builtin_fma(p, x, 0x1.4fdffce89edbbp-29);
  p = __builtin_fma(p, x, -0x1.973aa079c9516p-28);
  p = __builtin_fma(p, x, 0x1.65727a31f04c9p-27);
  p = __builtin_fma(p, x, -0x1.fb1d97414426bp-27);
  p = __builtin_fma(p, x, 0x1.485577823b748p-26);
  p = __builtin_fma(p, x, -0x1.c19a91a204bccp-26);
  p = __builtin_fma(p, x, 0x1.7a448642fd25fp-25);
  p = __builtin_fma(p, x, -0x1.b7f5cc958198ap-24);
  p = __builtin_fma(p, x, 0x1.84bc6e8ffd049p-22);
  p = __builtin_fma(p, x, -0x1.251ee6b9ede95p-19);
  p = __builtin_fma(p, x, 0x1.cb5ffffeb97e0p-16);
  p = __builtin_fma(p, x, -0x1.1fffffffffefdp-10);
  p = __builtin_fma(p, x, 0x1.0000000000000p+0);
  return p;
}

// x times Hankel's Q0 in z = (8/x)^2.
__cumetal_both double __cumetal_poly_q0(double x) {
  double p = -0x1.7fb4521df46f1p-31;
  p = __builtin_fma(p, x, 0x1.891580a1ec0e8p-28);
  p = __builtin_fma(p, x, -0x1.76b7b15dba220p-26);
  p = __builtin_fma(p, x, 0x1.bee6a6dfea2e2p-25);
  p = __builtin_fma(p, x, -0x1.7e4e18f3542dbp-24);
  p = __builtin_fma(p, x, 0x1.041c907a3d5a1p-23);
  p = __builtin_fma(p, x, -0x1.3ac20ebddaf67p-23);
  p = __builtin_fma(p, x, 0x1.848a1f5f2b7a1p-23);
  p = __builtin_fma(p, x, -0x1.1b71cb6324b30p-22);
  p = __builtin_fma(p, x, 0x1.138937d7060bep-21);
  p = __builtin_fma(p, x, -0x1.8615060fc1140p-20);
  p = __builtin_fma(p, x, 0x1.ba4c535ee2c4ep-18);
  p = __builtin_fma(p, x, -0x1.d11dfff9e3ce2p-15);
  p = __builtin_fma(p, x, 0x1.2bffffffff655p-10);
  p = __builtin_fma(p, x, -0x1.0000000000000p-3);
  return p;
}

// Hankel's P1 in z = (8/x)^2.
__cumetal_both double __cumetal_poly_p1(double x) {
  double p = -0x1.6436199b5b14dp-34;
  p = __builtin_fma(p, x, 0x1.6ff050617f256p-31);
  p = __builtin_fma(p, x, -0x1.62e04764359c0p-29);
  p = __builtin_fma(p, x, 0x1.aeae9e881c85cp-28);
  p = __builtin_fma(p, x, -0x1.7a9f74e0845bcp-27);
  p = __builtin_fma(p, x, 0x1.0d49cba4a9cd1p-26);
  p = __builtin_fma(p, x, -0x1.5e48d51d07a53p-26);
  p = __builtin_fma(p, x, 0x1.e33f2a096338dp-26);
  p = __builtin_fma(p, x, -0x1.9b36af38ef809p-25);
  p = __builtin_fma(p, x, 0x1.e6470d0e9005cp-24);
  p = __builtin_fma(p, x, -0x1.b8915814ae95fp-22);
  p = __builtin_fma(p, x, 0x1.5a6a56a8d9b4ep-19);
  p = __builtin_fma(p, x, -0x1.274fffff5428bp-15);
  p = __builtin_fma(p, x, 0x1.dfffffffffeefp-10);
  p = __builtin_fma(p, x, 0x1.0000000000000p+0);
  return p;
}

// x times Hankel's Q1 in z = (8/x)^2.
__cumetal_both double __cumetal_poly_q1(double x) {
  double p = 0x1.9441ea6f7b48bp-31;
  p = __builtin_fma(p, x, -0x1.9e4cdb47ab8afp-28);
  p = __builtin_fma(p, x, 0x1.8b2963ae39576p-26);
  p = __builtin_fma(p, x, -0x1.d7ad648e4c5d4p-25);
  p = __builtin_fma(p, x, 0x1.94097de0d83acp-24);
  p = __builtin_fma(p, x, -0x1.13823fcb15d3ap-23);
  p = __builtin_fma(p, x, 0x1.4ea7b2c726145p-23);
  p = __builtin_fma(p, x, -0x1.9fb1bb844fd8cp-23);
  p = __builtin_fma(p, x, 0x1.322cf2ec127b9p-22);
  p = __builtin_fma(p, x, -0x1.2dc8928bf454cp-21);
  p = __builtin_fma(p, x, 0x1.b3f97d1b2d6b4p-20);
  p = __builtin_fma(p, x, -0x1.fe58120f59924p-18);
  p = __builtin_fma(p, x, 0x1.1c3cfffcca15dp-14);
  p = __builtin_fma(p, x, -0x1.a3ffffffff5d6p-10);
  p = __builtin_fma(p, x, 0x1.8000000000000p-2);
  return p;
}

// I0(x) = p(x^2), |x| <= 8.
__cumetal_both double __cumetal_poly_i0(double x) {
  double p = 0x1.15efb2d4086c9p-120;
  p = __builtin_fma(p, x, 0x1.3c4341c22c4cfp-111);
  p = __builtin_fma(p, x, 0x1.445fcdee4489ap-101);
  p = __builtin_fma(p, x, 0x1.e6060f886ba33p-92);
  p = __builtin_fma(p, x, 0x1.41a9c07703453p-82);
  p = __builtin_fma(p, x, 0x1.69c8f74bfd491p-73);
  p = __builtin_fma(p, x, 0x1.5601a483ac16ep-64);
  p = __builtin_fma(p, x, 0x1.0b313127bc9e4p-55);
  p = __builtin_fma(p, x, 0x1.522a440fcb02bp-47);
  p = __builtin_fma(p, x, 0x1.522a43f50241ap-39);
  p = __builtin_fma(p, x, 0x1.02e85c08a5124p-31);
  p = __builtin_fma(p, x, 0x1.23456789ab315p-24);
  p = __builtin_fma(p, x, 0x1.c71c71c71c7bbp-18);
  p = __builtin_fma(p, x, 0x1.c71c71c71c717p-12);
  p = __builtin_fma(p, x, 0x1.0000000000000p-6);
  p = __builtin_fma(p, x, 0x1.0000000000000p-2);
  p = __builtin_fma(p, x, 0x1.0000000000000p+0);
  return p;
}

// I1(x) = x p(x^2), |x| <= 8.
__cumetal_both double __cumetal_poly_i1(double x) {
  double p = 0x1.018efdf84681dp-125;
  p = __builtin_fma(p, x, 0x1.400c4d70a5fc7p-116);
  p = __builtin_fma(p, x, 0x1.5932550ec2291p-106);
  p = __builtin_fma(p, x, 0x1.15d44ff43e4e3p-96);
  p = __builtin_fma(p, x, 0x1.8be03f0465ec5p-87);
  p = __builtin_fma(p, x, 0x1.e261cdab02860p-78);
  p = __builtin_fma(p, x, 0x1.f176b58aa6e7ep-69);
  p = __builtin_fma(p, x, 0x1.ab81e8f14098cp-60);
  p = __builtin_fma(p, x, 0x1.2c9758e99012ap-51);
  p = __builtin_fma(p, x, 0x1.522a43f588be4p-43);
  p = __builtin_fma(p, x, 0x1.27e4fb7791d53p-35);
  p = __builtin_fma(p, x, 0x1.845c8a0ce4a83p-28);
  p = __builtin_fma(p, x, 0x1.6c16c16c16c51p-21);
  p = __builtin_fma(p, x, 0x1.c71c71c71c71ap-15);
  p = __builtin_fma(p, x, 0x1.5555555555555p-9);
  p = __builtin_fma(p, x, 0x1.0000000000000p-4);
  p = __builtin_fma(p, x, 0x1.0000000000000p-1);
  return p;
}

// I0(x) = exp(x) p(1/x) / sqrt(x), x >= 8.
__cumetal_both double __cumetal_poly_i0large(double x) {
  double p = 0x1.89b7f4c3de7f8p+54;
  p = __builtin_fma(p, x, -0x1.0940d19503704p+55);
  p = __builtin_fma(p, x, 0x1.49fe9ec295707p+54);
  p = __builtin_fma(p, x, -0x1.f6a3aa2709c5dp+52);
  p = __builtin_fma(p, x, 0x1.061557c4a8834p+51);
  p = __builtin_fma(p, x, -0x1.8caca03bf0404p+48);
  p = __builtin_fma(p, x, 0x1.c2cd4359eb788p+45);
  p = __builtin_fma(p, x, -0x1.88ced95c35a18p+42);
  p = __builtin_fma(p, x, 0x1.09c38bf3a6eafp+39);
  p = __builtin_fma(p, x, -0x1.191348b40dbdfp+35);
  p = __builtin_fma(p, x, 0x1.d169619ba725ap+30);
  p = __builtin_fma(p, x, -0x1.2ca5c559a1f1cp+26);
  p = __builtin_fma(p, x, 0x1.2c7f171543d0fp+21);
  p = __builtin_fma(p, x, -0x1.c99b1bbaeba34p+15);
  p = __builtin_fma(p, x, 0x1.03b44751c9f93p+10);
  p = __builtin_fma(p, x, -0x1.8c948e0f3e8f0p+3);
  p = __builtin_fma(p, x, 0x1.59b0ac5ba5209p-2);
  p = __builtin_fma(p, x, 0x1.71129a0d9efccp-4);
  p = __builtin_fma(p, x, 0x1.6e8797d60477ap-5);
  p = __builtin_fma(p, x, 0x1.debb1c03cf0e8p-6);
  p = __builtin_fma(p, x, 0x1.cb94dd99c05bfp-6);
  p = __builtin_fma(p, x, 0x1.9884533d45310p-5);
  p = __builtin_fma(p, x, 0x1.9884533d43650p-2);
  return p;
}

// I1(x) = exp(x) p(1/x) / sqrt(x), x >= 8.
__cumetal_both double __cumetal_poly_i1large(double x) {
  double p = -0x1.9cb833cd2a97bp+54;
  p = __builtin_fma(p, x, 0x1.16b1b0a16fb1bp+55);
  p = __builtin_fma(p, x, -0x1.5b9a010d3a636p+54);
  p = __builtin_fma(p, x, 0x1.097bfb7d34207p+53);
  p = __builtin_fma(p, x, -0x1.15be6e5c04252p+51);
  p = __builtin_fma(p, x, 0x1.a5e8de1bd9d46p+48);
  p = __builtin_fma(p, x, -0x1.e17bd71dbc4cap+45);
  p = __builtin_fma(p, x, 0x1.a592f837ab7b7p+42);
  p = __builtin_fma(p, x, -0x1.1ed908c183b90p+39);
  p = __builtin_fma(p, x, 0x1.316e6d0efad7dp+35);
  p = __builtin_fma(p, x, -0x1.fde98fb10bc02p+30);
  p = __builtin_fma(p, x, 0x1.4cc7bcbf71c09p+26);
  p = __builtin_fma(p, x, -0x1.5102ebd7c12e3p+21);
  p = __builtin_fma(p, x, 0x1.0529d86c312c1p+16);
  p = __builtin_fma(p, x, -0x1.2fec4cd02d971p+10);
  p = __builtin_fma(p, x, 0x1.e3f2fc7eb9211p+3);
  p = __builtin_fma(p, x, -0x1.a663351079051p-2);
  p = __builtin_fma(p, x, -0x1.c2696119bcfbcp-4);
  p = __builtin_fma(p, x, -0x1.d743ab7680239p-5);
  p = __builtin_fma(p, x, -0x1.4f1c8ee2b6311p-5);
  p = __builtin_fma(p, x, -0x1.7efc0e04f1634p-5);
  p = __builtin_fma(p, x, -0x1.32633e6df2f54p-3);
  p = __builtin_fma(p, x, 0x1.9884533d43651p-2);
  return p;
}

#endif
