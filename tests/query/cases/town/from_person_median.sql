-- policy: town
-- python: QuestionBuilder("(SELECT patient, ward, MEDIAN(cost) AS middle FROM visits GROUP BY patient, ward) AS each").group_by("ward").agg(n=count("middle"), s=sum("middle"))
SELECT ward, COUNT(middle) AS n, SUM(middle) AS s FROM (SELECT patient, ward, MEDIAN(cost) AS middle FROM visits GROUP BY patient, ward) AS each GROUP BY ward
