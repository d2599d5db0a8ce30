-- Schema captcha.

CREATE SCHEMA captcha;
