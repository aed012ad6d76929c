-- policy: town
-- python: QuestionBuilder("visits JOIN (SELECT ward, MAX(floor) AS top FROM wards GROUP BY ward) AS t USING (ward)").group_by("top").agg(n=count())
SELECT top, COUNT(*) AS n FROM visits JOIN (SELECT ward, MAX(floor) AS top FROM wards GROUP BY ward) AS t USING (ward) GROUP BY top
