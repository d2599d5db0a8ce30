// PDFs used in the examples.
/** A page that says "Minutes". */
export const PAGE = Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 37>>stream
BT /F 18 Tf 40 140 Td (Minutes) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R/Size 6>>
%%EOF`).toString('base64');

/** An empty page. */
export const BLANK_PAGE = Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj
trailer<</Root 1 0 R/Size 4>>
%%EOF`).toString('base64');

/** A form with a text field `name` and a check box `member`. */
export const FORM = Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R]>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Annots[4 0 R 5 0 R]>>endobj
4 0 obj<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/Rect[20 140 280 160]/F 4/DA(/Helv 12 Tf 0 g)>>endobj
5 0 obj<</Type/Annot/Subtype/Widget/FT/Btn/T(member)/Rect[20 100 40 120]/F 4/V/Off/AS/Off/AP<</N<</Yes 6 0 R/Off 6 0 R>>>>>>endobj
6 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 20 20]/Length 0>>stream
endstream endobj
trailer<</Root 1 0 R/Size 7>>
%%EOF`).toString('base64');
