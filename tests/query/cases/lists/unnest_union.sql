-- policy: lists
-- python: QuestionBuilder("(SELECT patient, codes AS c FROM visits WHERE ward = 'A' UNION ALL SELECT patient, codes FROM visits) AS v, UNNEST(v.c) AS u(code)").group_by("code").agg(n=count())
SELECT code, COUNT(*) AS n FROM (SELECT patient, codes AS c FROM visits WHERE ward = 'A' UNION ALL SELECT patient, codes FROM visits) AS v, UNNEST(v.c) AS u(code) GROUP BY code
